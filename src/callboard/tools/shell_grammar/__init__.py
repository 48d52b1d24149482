"""Shell commands as text: their grammar, the programs that they start, and what a rule may compare with."""
