"""Memory of the device is memory of the host, and every call succeeds."""
