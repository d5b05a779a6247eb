"""Note for whoever runs the faults: your report.py was here, and the checker's author overwrote it by mistake (08:58).

Please write it again; what a history holds, counted, is in `faults.tally` (Tally.text(), Tally.json(), faults.check.checked).
"""
