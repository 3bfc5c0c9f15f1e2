"""Two traces compared, by host, port and path."""
