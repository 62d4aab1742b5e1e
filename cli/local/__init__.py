"""The local stack: emulated AWS, a real Redis and a mock vendor on loopback addresses."""
