import LiveMap
import TagTracking

/// The parameters of a request for tags.
struct TagQuery {
    /// The maximum number of tags in a response, and the number by default.
    static let mostTags = 10_000
    static let usualTags = 1_000
    static let filters = ["room", "map", "q", "present"]

    private var room: String?
    private var map: Int?
    private var text: String?
    private var isPresent: Bool?

    init(_ request: HTTPRequest) throws(HTTPProblem) {
        room = request.target.query["room"]?.lowercased()
        map = try request.integer("map", in: .min ... .max)
        text = request.target.query["q"]?.lowercased()
        switch request.target.query["present"] {
        case nil: isPresent = nil
        case "true": isPresent = true
        case "false": isPresent = false
        default: throw HTTPProblem(400, "The parameter 'present' must be true or false.")
        }
    }

    /// Whether a tag has the room, the map and the presence, and the text in its key or name.
    func selects(_ state: LatestOutput) -> Bool {
        if let isPresent, state.isPresent != isPresent { return false }
        if let map, state.position?.mapID.rawValue != map { return false }
        if let room, state.room?.lowercased() != room { return false }
        guard let text, !text.isEmpty else { return true }
        return state.tag.description.lowercased().contains(text) || state.name?.lowercased().contains(text) ?? false
    }
}
