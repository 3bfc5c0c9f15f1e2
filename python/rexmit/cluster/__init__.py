"""Work spread over processes and machines by Dask distributed: calls in, answers out.

Dask was taken, and no engine of our own: 24 MB, it starts in two seconds, and knows Slurm,
Kubernetes and SSH. It is imported when a cluster is opened, which takes a second that no other
command spends.
"""

from rexmit.cluster.address import ClusterAddress, Where, address_of
from rexmit.cluster.calls import Call, LostError
from rexmit.cluster.connect import Cluster, open_cluster

__all__ = ["Call", "Cluster", "ClusterAddress", "LostError", "Where", "address_of", "open_cluster"]
