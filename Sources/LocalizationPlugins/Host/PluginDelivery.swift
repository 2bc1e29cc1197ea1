import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// An element of one of the streams to plugins.
package enum PluginDelivery: Sendable {
    case position(Position)
    /// Indirect, because an estimate is large and the others are not.
    indirect case motion(MotionEstimate)
    case networkPosition(SharedPosition)
    case networkData(SharingEvent)
    case pluginData(PluginData)
    case error(LocalizationError)

    /// Creates the delivery of a sharing event, for one of its two streams.
    package init(_ event: SharingEvent) {
        if case .position(let position) = event {
            self = .networkPosition(position)
        } else {
            self = .networkData(event)
        }
    }

    /// The stream of the delivery.
    package var stream: PluginStreams {
        switch self {
        case .position: .positions
        case .motion: .motion
        case .networkPosition: .networkPositions
        case .networkData: .networkData
        case .pluginData: .pluginData
        case .error: .errors
        }
    }

    /// The plugin that sent the delivery; nil if no plugin did.
    package var sender: PluginID? {
        if case .pluginData(let data) = self { data.sender } else { nil }
    }
}
