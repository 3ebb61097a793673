// Every component of the design system on one page, in its states, for those who build pages and
// for the test that checks each for accessibility.

import { useState } from "react";
import { Tabs } from "../../design/tabs.tsx";
import { Page } from "../../shell/page.tsx";
import { Controls } from "./controls.tsx";
import { Editors } from "./editors.tsx";
import { Reading } from "./reading.tsx";
import { States } from "./states-shown.tsx";
import "./components-page.css";

export function ComponentsPage() {
  const [tab, setTab] = useState("controls");
  return (
    <Page title="Components">
      <Tabs
        label="Kinds of components"
        value={tab}
        onChange={setTab}
        tabs={[
          { value: "controls", label: "Controls", content: <Controls /> },
          { value: "reading", label: "Reading", content: <Reading /> },
          { value: "editors", label: "Editors and charts", content: <Editors /> },
          { value: "states", label: "States", content: <States /> },
        ]}
      />
    </Page>
  );
}
