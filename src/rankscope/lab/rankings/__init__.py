"""All possible rankings: the worlds they come from, their prefix tree, their enumeration."""
