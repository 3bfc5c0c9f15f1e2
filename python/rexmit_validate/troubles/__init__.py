"""Connections with one trouble each, of real programs: what the account of time is judged by."""
