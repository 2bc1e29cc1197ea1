/// What the first event of a stream says beside its own detail, such as why this way to the radio was taken.
struct InitialDetail: Hashable, Sendable {
    private var text: String?

    /// - Parameter text: a sentence or two; nil if there is nothing to say.
    init(_ text: String?) { self.text = text }

    /// The detail of an event; the first one has the remark behind it.
    mutating func added(to detail: String?) -> String? {
        guard let remark = text else { return detail }
        text = nil
        guard let detail else { return remark }
        return "\(detail.last == "." ? detail : detail + ".") \(remark)"
    }
}
