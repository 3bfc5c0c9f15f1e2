"""Packet scripts on kernels in virtual time: found, run by packetdrill, and judged."""
