-- Configurations (saved prompts) with their versions and environments, and tools. In the control
-- database. New tables only; takes no lock that anyone could wait for.

create table configurations (
  configuration_id uuid primary key,
  project_id uuid not null references projects,
  name text not null,
  last_version integer not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);

create unique index configurations_name_idx on configurations (project_id, name)
  where deleted_at is null;

create table configuration_versions (
  configuration_id uuid not null references configurations,
  version integer not null,
  -- Type, provider, parameters and user properties. As json, which keeps the order of keys and text
  -- that jsonb refuses; no statement looks inside it.
  content json not null,
  tags text[] not null,
  -- SHA-256 of content and tags in hexadecimal.
  full_sha text not null,
  message text not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  primary key (configuration_id, version)
);

-- The version of a configuration that is deployed in an environment.
create table configuration_environments (
  configuration_id uuid not null references configurations,
  environment text not null check (environment in ('dev', 'staging', 'prod')),
  version integer not null,
  deployed_at timestamptz not null default now(),
  deployed_by text not null,
  primary key (configuration_id, environment),
  foreign key (configuration_id, version) references configuration_versions
);

-- Functions that models may call, as older clients keep them.
create table tools (
  tool_id uuid primary key,
  project_id uuid not null references projects,
  name text not null,
  description text not null,
  tool_type text not null check (tool_type in ('function', 'tool')),
  -- A JSON schema, as the client sent it.
  parameters json not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz not null default now(),
  unique (project_id, name)
);
