"""One self-contained HTML page over folders of results, and over the runs behind them."""
