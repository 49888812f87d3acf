"""A reimplementation of trec_eval 10 with Rankscope's measures: names, options, file formats and output layout.

``names``              trec_eval's measures and their parameters, as Rankscope's measures
``options``            command line options
``collection``         rankings under ``-c``, ``-M`` and ``-J``
``groups``             judgments of several people (``-R qrels_jg``)
``prefs``              preferences between documents (``-R prefs``, ``-R qrels_prefs``)
``preference_counts``  counts of the preferences that a ranking fulfils
``fields``             text files with a fixed number of fields per line
``results``            values per topic, z scores, summaries
``layout``             output lines
``help_text``          the text of ``-h``
"""
