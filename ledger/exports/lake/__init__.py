"""The views as Parquet files in a folder that later exports add to."""
