// The mark of Waggle.

import icon from "./icon.svg";

export function Logo() {
  return (
    <span className="logo">
      <img src={icon} alt="Waggle" width={20} height={20} />
    </span>
  );
}
