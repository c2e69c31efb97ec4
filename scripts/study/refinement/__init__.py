"""Study of the thesis, chapter 5 and section 6.3."""
