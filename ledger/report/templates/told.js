// A page that only says something.
themeButton();
