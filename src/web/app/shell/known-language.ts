// The browser's language for libraries that format by it as they load. A browser on a system
// without a language gives an invalid name, such as `en-US@posix`, which no formatter takes.

if (!isLocale(navigator.language)) {
  Object.defineProperty(navigator, "language", { value: "en", configurable: true });
}

function isLocale(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name).length > 0;
  } catch {
    // A RangeError: the name is not a language tag.
    return false;
  }
}
