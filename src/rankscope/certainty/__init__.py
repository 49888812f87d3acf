"""How far a value can be trusted: what tied scores leave open, and what documents without a judgment do."""
