-- Sign-in: attempts on their way through the identity provider, one-time links, sessions, and the
-- roles manifest as last applied.
-- New tables only; takes no lock that anyone could wait for.

create table sign_in_attempts (
  -- SHA-256 of the `state` that the provider hands back.
  state_hash bytea primary key,
  -- SHA-256 of the cookie that ties the attempt to one browser.
  browser_hash bytea not null,
  nonce text not null,
  code_verifier text not null,
  -- Path to go to afterwards.
  return_to text not null,
  created_at timestamptz not null default now()
);

create index sign_in_attempts_created_at_idx on sign_in_attempts (created_at);

create table sign_in_links (
  link_hash bytea primary key,
  user_id uuid not null references users,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);

create table sign_in_sessions (
  -- SHA-256 of the cookie; the cookie itself is stored nowhere.
  session_hash bytea primary key,
  user_id uuid not null references users,
  -- Groups that the identity provider named.
  groups text[] not null default '{}',
  created_at timestamptz not null default now(),
  -- Fixed at sign-in: the later of the token's expiry and three hours.
  expires_at timestamptz not null
);

create index sign_in_sessions_user_idx on sign_in_sessions (user_id);
create index sign_in_sessions_expires_at_idx on sign_in_sessions (expires_at);

-- The one row holds the manifest's roles and groups, to tell what a new manifest changes.
create table role_manifests (
  manifest_id integer primary key check (manifest_id = 1),
  roles json not null,
  groups json not null,
  applied_at timestamptz not null default now()
);
