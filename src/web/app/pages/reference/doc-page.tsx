// One page of the repository's docs.

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ErrorState, Loading } from "../../design/states.tsx";
import { docGroups } from "./doc-pages.ts";
import { Markdown } from "./markdown.tsx";
import { ReferenceLayout } from "./reference-layout.tsx";
import { docRoute } from "./route.tsx";

const folder = "../../../../../docs";
const files = import.meta.glob<string>("../../../../../docs/*.md", {
  query: "?raw",
  import: "default",
});

export function DocPage() {
  const { name } = docRoute.useParams();
  const page = docGroups.flatMap(({ pages }) => pages).find((one) => one.name === name);
  return (
    <ReferenceLayout title={page?.title ?? "Docs"}>
      <Doc key={name} name={name} />
    </ReferenceLayout>
  );
}

function Doc({ name }: { readonly name: string }) {
  const place = useRef<HTMLElement>(null);
  const { data: text, error } = useQuery({
    queryKey: ["doc", name],
    staleTime: Infinity,
    retry: false,
    queryFn: () => {
      const load = files[`${folder}/${name}.md`];
      if (!load) throw new Error(`There is no page "${name}"; choose one from the list.`);
      return load();
    },
  });
  useEffect(() => {
    if (text === undefined) return;
    const id = decodeURIComponent(globalThis.location.hash.slice(1));
    if (id === "") place.current?.focus();
    else document.getElementById(id)?.scrollIntoView();
  }, [text]);
  return (
    <article ref={place} className="reference-content doc" tabIndex={0}>
      {error ? <ErrorState error={error} /> : null}
      {text === undefined && !error ? <Loading what="Loading the page" /> : null}
      {text === undefined ? null : <Markdown text={text} />}
    </article>
  );
}
