# SPDX-License-Identifier: GPL-2.0
# sphinx-build -W Documentation build/html
project = "gsotun"
author = "The gsotun authors"
copyright = author
version = release = "0.1.0"
exclude_patterns = ["netlink"]
highlight_language = "none"
html_theme = "alabaster"
html_theme_options = {"page_width": "60em"}
