/** Opens what is folded while the page is printed, because paper cannot be opened: tables, and the details of the cases that did not pass. */
export function openForPrint(): void {
  let opened: Array<() => void> = [];
  const open = () => {
    for (const details of document.querySelectorAll('details:not([open])')) {
      details.setAttribute('open', '');
      opened.push(() => details.removeAttribute('open'));
    }
    for (const title of document.querySelectorAll<HTMLElement>('.case:not(.passed) .title[aria-expanded=false]')) {
      title.click();
      opened.push(() => title.click());
    }
  };
  addEventListener('beforeprint', () => {
    keepAddress(() => {
      open();
      // The details of a case have folded parts of their own.
      open();
    });
  });
  addEventListener('afterprint', () => {
    keepAddress(() => {
      for (const close of opened) close();
      opened = [];
    });
  });
}

/** A case that is opened puts its name into the page's address. */
function keepAddress(change: () => void): void {
  const { href } = location;
  change();
  history.replaceState(null, '', href);
}
