const themes = ['auto', 'light', 'dark'] as const;
const key = 'mcp-eval-ci-theme';

/** Lets the reader choose between light and dark, or leave that to the system. */
export function startTheme(button: HTMLElement): void {
  let theme = recall();
  const show = () => {
    if (theme === 'auto') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
    button.textContent = `Theme: ${theme}`;
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto';
    remember(theme);
    show();
  });
  show();
}

function recall(): (typeof themes)[number] {
  try {
    const kept = localStorage.getItem(key);
    return themes.find((theme) => theme === kept) ?? 'auto';
  } catch {
    // A page that was opened from a file may have no storage.
    return 'auto';
  }
}

function remember(theme: string): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // The choice then lasts as long as the page.
  }
}
