/// Something that went wrong with a plugin; the others and the session are not touched by it.
public struct PluginFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the plugin was doing.
    public enum Occasion: Hashable, Sendable {
        /// It was to be added, though it was there already.
        case adding
        /// It was to begin: it is not kept.
        case initializing
        /// It was to end.
        case stopping
        /// It was told something of a stream.
        case receiving(PluginStreams)
        /// It was at work by itself, and reported this.
        case working
    }

    /// The plugin's number; nil if it has none.
    public var plugin: PluginID?
    /// The name of the plugin's type.
    public var name: String
    /// What the plugin was doing.
    public var occasion: Occasion
    /// The description of what it threw.
    public var cause: String

    /// Creates a failure.
    public init(plugin: PluginID?, name: String, occasion: Occasion, cause: String) {
        self.plugin = plugin
        self.name = name
        self.occasion = occasion
        self.cause = cause
    }

    public var description: String {
        let number = plugin.map { " (plugin \($0))" } ?? ""
        return switch occasion {
        case .adding: "\(name)\(number) was not added: \(cause)"
        case .initializing: "\(name)\(number) failed to initialize and is not kept: \(cause)"
        case .stopping: "\(name)\(number) failed to stop: \(cause)"
        case .receiving(let stream): "\(name)\(number) failed on \(stream.names): \(cause)"
        case .working: "\(name)\(number): \(cause)"
        }
    }
}

extension PluginStreams {
    /// The streams by their names.
    var names: String {
        let names: [(PluginStreams, String)] = [
            (.positions, "a position"), (.motion, "a motion estimate"), (.networkPositions, "a network position"),
            (.networkData, "network data"),
            (.pluginData, "plugin data"), (.errors, "an error"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
