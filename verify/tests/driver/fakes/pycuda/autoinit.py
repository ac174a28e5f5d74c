"""Nothing has to be begun."""
