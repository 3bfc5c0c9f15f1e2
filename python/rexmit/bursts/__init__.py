"""What runs with bursts over paths show: completion times by loss, the claims and figures of
Probe or Wait 2017."""
