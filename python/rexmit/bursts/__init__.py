"""What runs with bursts over paths show: completion times by loss, the claims and figures of the
study of 2017."""
