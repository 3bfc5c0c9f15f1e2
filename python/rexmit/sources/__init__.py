"""Where captures are: files, object stores, web servers; patterns that name many of them."""

from rexmit.sources.capture import STDIN, Capture, name_of
from rexmit.sources.find import find
from rexmit.sources.remote import Remote
from rexmit.sources.spool import spooled

__all__ = ["STDIN", "Capture", "Remote", "find", "name_of", "spooled"]
