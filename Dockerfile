# An image with the program under both its names, `figaro` and `figaro-mcp`. Settings (.env) and data are in the volume
# /data. docs/operations.md, "Containers", has the rest.
#
#   docker build -t figaro:0.1.0 .
#   docker run -it --rm -v figaro_figaro:/data figaro:0.1.0 figaro init
#   docker run -d --name figaro --restart unless-stopped -v figaro_figaro:/data figaro:0.1.0

FROM rust:1.95-slim AS build
WORKDIR /src
COPY . .
# The compiler of the image, not the one that this file would download.
RUN rm rust-toolchain.toml
RUN cargo build --profile dist --features local-embedder,local-transcriber --locked --bin figaro

FROM debian:stable-slim
# The user has the number that it has in published images, so both kinds of image can use the same volume.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 figaro \
    && useradd --uid 10001 --gid figaro --no-create-home --home-dir /data --shell /usr/sbin/nologin figaro \
    && install -d -m 700 -o figaro -g figaro /data
COPY --from=build /src/target/dist/figaro /usr/local/bin/
# Called by this name, the program is the Telegram MCP server.
RUN ln -s figaro /usr/local/bin/figaro-mcp
USER figaro
WORKDIR /data
# The MCP registry finds by this label that mcp-server/server.json belongs to this image.
LABEL io.modelcontextprotocol.server.name="io.github.OWNER/figaro-telegram"
ENV STORE_URL=redb:/data/store
VOLUME /data
HEALTHCHECK --interval=60s --timeout=10s --start-period=30s CMD ["figaro", "healthcheck"]
CMD ["figaro"]
