/// A failure of a plugin. It doesn't affect the other plugins and the session.
public struct PluginFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation that failed.
    public enum Occasion: Hashable, Sendable {
        /// The program added the plugin a second time.
        case adding
        /// The initialization; the host has dropped the plugin.
        case initializing
        /// The stop.
        case stopping
        /// The delivery of an element of a stream.
        case receiving(PluginStreams)
        /// The plugin's own work; the plugin has reported the failure.
        case working
    }

    /// The plugin's number; nil if it has none.
    public var plugin: PluginID?
    /// The name of the plugin's type.
    public var name: String
    /// The operation that failed.
    public var occasion: Occasion
    /// The description of the error.
    public var cause: String

    /// Creates a failure.
    package init(plugin: PluginID?, name: String, occasion: Occasion, cause: String) {
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
    /// The names of the streams.
    var names: String {
        let names: [(PluginStreams, String)] = [
            (.positions, "a position"), (.motion, "a motion estimate"), (.networkPositions, "a network position"),
            (.networkData, "network data"),
            (.pluginData, "plugin data"), (.errors, "an error"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
