import IndoorPositioning

/// A plugin that stores places by name, and sets the device to one of them on request.
///
///     let lift = PluginPlacement(mapID: 1, place: .point(point), heading: 90)
///     let points = await host.add(NamedPoints(), arguments: ["lift": lift])
///     try await points?.setLocation("lift")
///
/// The request can come from a door that opens, a scanned code, or a person who selects a place.
public actor NamedPoints: LocalizationPlugin {
    /// The places by their names.
    package private(set) var points: [String: PluginPlacement] = [:]
    /// The heading of the last point that has one; nil if there was none.
    package private(set) var heading: Double?

    private weak var host: PluginHost?

    /// Creates the plugin; a host adds it.
    public init() {}

    /// Starts with a set of points.
    public func initialize(host: PluginHost, arguments: [String: PluginPlacement]) -> Bool {
        self.host = host
        points = arguments
        return true
    }

    /// Adds a point; replaces one with the same name.
    public func add(_ id: String, _ point: PluginPlacement) { points[id] = point }

    /// Removes the point with a name; returns whether there was one.
    @discardableResult public func remove(_ id: String) -> Bool { points.removeValue(forKey: id) != nil }

    /// Sets the device to a point; an unknown name has no effect.
    ///
    /// - Returns: the session's response to the place; nil if there is no such point, or if it has only a heading.
    /// - Throws: `PluginPlacementError` if the point has no position in the current venue.
    @discardableResult public func setLocation(_ id: String) async throws -> FixOutcome? {
        guard let host, let point = points[id] else { return nil }
        let outcome = try await host.localizer.place(at: point)
        heading = point.heading ?? heading
        return outcome
    }
}
