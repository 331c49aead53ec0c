"""The mirror as one workbook for spreadsheets: XLSX, written row by row."""
