@_exported import BeaconScanning
@_exported import IndoorPositioning
@_exported import IndoorRouting
@_exported import IndoorVocabulary
@_exported import LocalizationPlugins
@_exported import LocalizationSession
@_exported import VenueModel
