"""Case analysis: test on all rankings whether a measure respects given relations between rankings."""
