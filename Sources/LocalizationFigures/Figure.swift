/// A figure as an SVG document.
public struct Figure: Hashable, Sendable {
    /// The document.
    public let svg: String
}
