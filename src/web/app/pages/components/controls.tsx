// Controls of the design system: buttons, fields, choices, and the panels that they open.

import { Plus, Settings, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Badge, Status } from "../../design/badge.tsx";
import { Button, IconButton } from "../../design/button.tsx";
import { Combobox } from "../../design/combobox.tsx";
import { Checkbox, Field, Input, Select, Switch, TextArea } from "../../design/input.tsx";
import { Menu } from "../../design/menu.tsx";
import { ConfirmDialog, Drawer } from "../../design/overlay.tsx";
import { Segments } from "../../design/tabs.tsx";
import { showToast } from "../../design/toast.tsx";
import { Cost, Count, Duration, Identifier, KeyValue, Time } from "../../design/values.tsx";

export function Shown(props: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <h2>{props.title}</h2>
      {props.children}
    </section>
  );
}

export function Controls() {
  return (
    <div className="shown">
      <Buttons />
      <Fields />
      <Choices />
      <Panels />
      <Values />
    </div>
  );
}

function Buttons() {
  return (
    <Shown title="Button, IconButton, Badge, Status">
      <div className="shown-row">
        <Button variant="primary">Save</Button>
        <Button icon={<Plus />}>New chart</Button>
        <Button variant="ghost">Cancel</Button>
        <Button variant="danger" icon={<Trash2 />}>
          Delete
        </Button>
        <Button busyLabel="Saving…">Save</Button>
        <Button size="small">Small</Button>
        <IconButton label="Settings" icon={<Settings />} />
      </div>
      <div className="shown-row">
        {(["neutral", "accent", "good", "bad", "warn", "info"] as const).map((tone) => (
          <Badge key={tone} tone={tone}>
            {tone}
          </Badge>
        ))}
        <Status tone="good">passed</Status>
        <Status tone="bad">failed</Status>
        <Status tone="warn">waiting</Status>
      </div>
    </Shown>
  );
}

function Fields() {
  const [text, setText] = useState("");
  return (
    <Shown title="Field, Input, TextArea, Select">
      <Field label="Name" hint="1 to 256 characters">
        {({ isInvalid, ...ids }) => (
          <Input
            {...ids}
            isInvalid={isInvalid}
            value={text}
            placeholder="Quality of answers"
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <Field label="Budget" error="Give a number above 0.">
        {(ids) => <Input {...ids} defaultValue="-3" />}
      </Field>
      <Field label="Description">
        {(ids) => <TextArea {...ids} defaultValue="Grows with its text." />}
      </Field>
    </Shown>
  );
}

function Choices() {
  const [isOn, setOn] = useState(true);
  const [view, setView] = useState("tree");
  const [unit, setUnit] = useState("hour");
  const [model, setModel] = useState("gpt-5");
  const units = ["minute", "hour", "day"].map((value) => ({ value, label: value }));
  return (
    <Shown title="Checkbox, Switch, Segments, Select, Combobox">
      <div className="shown-row">
        <Checkbox label="Only errors" checked={isOn} onChange={setOn} />
        <Checkbox label="Some" isPartial checked={false} onChange={() => undefined} />
        <Switch label="Enabled" checked={isOn} onChange={setOn} />
        <Segments
          label="View"
          value={view}
          onChange={setView}
          options={["tree", "flame", "chat"].map((value) => ({ value, label: value }))}
        />
        <Select aria-label="Bucket" isSmall value={unit} options={units} onChange={setUnit} />
        <Combobox
          label="Models"
          value={model}
          onChange={setModel}
          options={["gpt-5", "gpt-5-mini", "claude-sonnet-5"].map((value) => ({
            value,
            label: value,
            hint: "chat",
          }))}
          trigger={<Button size="small">{model}</Button>}
        />
      </div>
    </Shown>
  );
}

function Panels() {
  const [panel, setPanel] = useState<"confirm" | "drawer">();
  const close = () => setPanel(undefined);
  return (
    <Shown title="Menu, ConfirmDialog, Drawer, Toast">
      <div className="shown-row">
        <Menu
          trigger={<Button>Menu</Button>}
          items={[
            { heading: "This row" },
            { label: "Copy link", keys: "c", onSelect: () => undefined },
            "line",
            { label: "Delete", icon: <Trash2 />, isDanger: true, onSelect: close },
          ]}
        />
        <Button onClick={() => setPanel("confirm")}>Confirm</Button>
        <Button onClick={() => setPanel("drawer")}>Drawer</Button>
        <Button onClick={() => showToast({ text: "Saved as version 4" })}>Toast</Button>
      </div>
      <ConfirmDialog
        isOpen={panel === "confirm"}
        onClose={close}
        title="Delete this dataset?"
        description="Its 1,204 datapoints go with it. This cannot be undone."
        action="Delete dataset"
        busyLabel="Deleting…"
        typedName="golden"
        change={{ isPending: false, error: null }}
        onConfirm={close}
      />
      <Drawer isOpen={panel === "drawer"} onClose={close} title="Details">
        <div className="shown">For details beside a list.</div>
      </Drawer>
    </Shown>
  );
}

function Values() {
  const id = "01a20faf-6aa3-76c9-9fc8-51620efffd75";
  return (
    <Shown title="KeyValue, Time, Duration, Cost, Count, Identifier">
      <KeyValue
        items={[
          { label: "Started", value: <Time value={Date.now() - 7_200_000} /> },
          { label: "Duration", value: <Duration value={83_450} /> },
          { label: "Cost", value: <Cost value={0.00412} /> },
          { label: "Estimate", value: <Cost value={undefined} /> },
          { label: "Events", value: <Count value={1_234_567} /> },
          { label: "Id", value: <Identifier value={id} /> },
        ]}
      />
    </Shown>
  );
}
