import IndoorPositioning

/// A plugin that knows places by name, and puts the device to one of them on demand.
///
///     let points = await host.add(NamedPoints(), arguments: ["lift": PluginPlacement(mapID: 1, place: .point(point), heading: 90)])
///     try await points?.setLocation("lift")
///
/// For a door that was opened, a code that was read, somebody who says where he is.
public actor NamedPoints: LocalizationPlugin {
    /// The places by their names.
    public private(set) var points: [String: PluginPlacement] = [:]
    /// Where the device faces, as the last point with a heading told; nil if none has.
    public private(set) var heading: Double?

    private weak var host: PluginHost?

    /// Creates the plugin, to be added to a host.
    public init() {}

    /// Begins with these points.
    public func initialize(host: PluginHost, arguments: [String: PluginPlacement]) -> Bool {
        self.host = host
        points = arguments
        return true
    }

    /// Adds a point, in place of one of the same name.
    public func add(_ id: String, _ point: PluginPlacement) { points[id] = point }

    /// Forgets the point of that name; returns whether there was one.
    @discardableResult public func remove(_ id: String) -> Bool { points.removeValue(forKey: id) != nil }

    /// Puts the device to a point; a name that is none has no effect.
    ///
    /// - Returns: how far the session believed it; nil if there is no such point, or if it has no more than a heading.
    /// - Throws: `PluginPlacementError` if the point cannot be found in the venue that the device is in.
    @discardableResult public func setLocation(_ id: String) async throws -> FixOutcome? {
        guard let host, let point = points[id] else { return nil }
        let outcome = try await host.localizer.place(at: point)
        heading = point.heading ?? heading
        return outcome
    }
}
