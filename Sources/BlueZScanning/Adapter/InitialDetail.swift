/// A text that the first event of a stream adds to its own detail, such as the reason for the selected route.
struct InitialDetail: Hashable, Sendable {
    private var text: String?

    /// - Parameter text: One or two sentences; nil for none.
    init(_ text: String?) { self.text = text }

    /// Returns the detail of an event. The first call appends the text.
    mutating func added(to detail: String?) -> String? {
        guard let addition = text else { return detail }
        text = nil
        guard let detail else { return addition }
        return "\(detail.last == "." ? detail : detail + ".") \(addition)"
    }
}
