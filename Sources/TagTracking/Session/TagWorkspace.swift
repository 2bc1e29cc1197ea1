/// The memory that the engine needs during an update. One workspace serves all tags in turn.
struct TagWorkspace: Sendable {
}
