// Media: an image or a sound out of a payload, as the thing it is.

import { useEffect, useRef, useState } from "react";
import "./message-view.css";

export type MediaProps = {
  readonly media: "image" | "audio";
  /** A data URL. */
  readonly url: string;
};

/** Draws the media once its place comes near the window: decoding costs memory. */
export function Media({ media, url }: MediaProps) {
  const place = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true),
      { rootMargin: "200px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={place} className="media" data-media={media}>
      {isSeen && media === "image" ? <img src={url} alt="Sent in the message" /> : null}
      {isSeen && media === "audio" ? <audio controls src={url} /> : null}
    </div>
  );
}
