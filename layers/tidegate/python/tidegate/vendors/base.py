"""What every vendor adapter shares: the request it gets, the answer it returns, the HTTP it uses.

Adapters speak to one vendor API each. They never retry, hold four separate timeouts, and read a
response only up to a limit; errors leave as one class of the tree in `tidegate.errors`.
"""
