"""What trec_eval 10 does, with Rankscope's measures: its names, its options, its formats, its layout.

``names``        trec_eval's measures and their parameters, as Rankscope's measures
``options``      its command line
``collection``   lists as it makes them of judgments and a run (``-c -M -J``)
``groups``       judgments of several people (``-R qrels_jg``)
``prefs``        preferences between documents (``-R prefs``, ``-R qrels_prefs``)
``preferences``  how many of them a ranking keeps
``lines``        files of a fixed number of fields a line
``results``      values per topic, z scores, summaries
``layout``       the lines it prints
``guide``        its ``-h``
"""
