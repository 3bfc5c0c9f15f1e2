"""How often the model and a real kernel agree, packet by packet, over random cases."""
