"""The report: one self-contained HTML page of results and of the runs behind them."""
