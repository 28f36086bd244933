"""measure -> Estimate."""
