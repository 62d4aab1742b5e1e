"""What experiments on the deployed stack share: relays that kill, clients that insist, books."""
