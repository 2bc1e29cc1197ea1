import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// One thing that plugins are told.
package enum PluginDelivery: Sendable {
    case position(Position)
    /// Apart in memory: an estimate is large, and the others are not.
    indirect case motion(MotionEstimate)
    case networkPosition(SharedPosition)
    case networkData(SharingEvent)
    case pluginData(PluginData)
    case error(LocalizationError)

    /// Sorts what happened among the devices into one of its two streams.
    package init(_ event: SharingEvent) {
        if case .position(let position) = event {
            self = .networkPosition(position)
        } else {
            self = .networkData(event)
        }
    }

    /// The stream that it belongs to.
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

    /// The plugin that it is from; nil if it is from none.
    package var sender: PluginID? {
        if case .pluginData(let data) = self { data.sender } else { nil }
    }
}
