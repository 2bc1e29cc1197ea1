// swift-tools-version: 6.2

import PackageDescription

let targets: [Target] = [
    .target(name: "CMath", linkerSettings: [.linkedLibrary("m")]),
    .target(name: "CGetOpt"),
    .target(name: "CBench"),
    .target(name: "CPrivileges"),
    .target(name: "CFolders"),
    .target(name: "CMemory"),
    // Without `pkgConfig`, which would make SwiftPM warn of libraries that a user of the core doesn't need. The headers
    // say which package is missing.
    .systemLibrary(name: "CLibArchive"),
    .systemLibrary(name: "CZlib"),
    .systemLibrary(name: "CExpat"),
    .systemLibrary(name: "CYAML"),
    .systemLibrary(name: "CCurl"),
    .target(name: "CBlueZ"),
    .systemLibrary(name: "CDBus"),
    .systemLibrary(name: "CGPS"),
    .systemLibrary(name: "CMosquitto"),
    .systemLibrary(name: "CSodium"),
    .systemLibrary(name: "CSystemd"),
    .systemLibrary(name: "CSQLite"),
    .systemLibrary(name: "CMicroHTTPD"),
    .target(name: "CLiveMapPage"),
    .systemLibrary(name: "CNATS"),
    .systemLibrary(name: "CPostgreSQL"),
    // The layers of positioning. Each target imports only the targets that it names.
    .target(name: "TextFormats"),
    .target(name: "IndoorVocabulary", dependencies: ["TextFormats", "CMath"]),
    .target(name: "VenueModel", dependencies: ["IndoorVocabulary", "CMath"]),
    .target(name: "BeaconScanning", dependencies: ["TextFormats", "IndoorVocabulary", "CMath"]),
    .target(name: "IndoorPositioning", dependencies: ["IndoorVocabulary", "VenueModel", "CMath"]),
    .target(name: "IndoorRouting", dependencies: ["IndoorVocabulary", "VenueModel"]),
    .target(
        name: "LocalizationSession",
        dependencies: [
            "IndoorVocabulary", "VenueModel", "BeaconScanning", "IndoorPositioning", "IndoorRouting", "CMath",
        ]),
    .target(
        name: "LocalizationPlugins",
        dependencies: [
            "IndoorVocabulary", "VenueModel", "BeaconScanning", "IndoorPositioning", "IndoorRouting",
            "LocalizationSession",
        ]),
    // All layers behind one import.
    .target(
        name: "IndoorLocalization",
        dependencies: [
            "IndoorVocabulary", "VenueModel", "BeaconScanning", "IndoorPositioning", "IndoorRouting",
            "LocalizationSession", "LocalizationPlugins",
        ]),
    .target(
        name: "BlueZScanning", dependencies: ["TextFormats", "IndoorVocabulary", "BeaconScanning", "CBlueZ", "CDBus"]),
    .target(name: "GPSDReceiving", dependencies: ["IndoorVocabulary", "CGPS"]),
    .target(
        name: "NMEASending",
        dependencies: ["TextFormats", "IndoorVocabulary", "VenueModel", "LocalizationSession", "CMath"]),
    .target(name: "IIOReceiving", dependencies: ["IndoorVocabulary"]),
    .target(
        name: "MQTTSharing",
        dependencies: [
            "TextFormats", "IndoorVocabulary", "VenueModel", "LocalizationSession", "SecretFiles", "CMosquitto",
            "CSodium",
        ]),
    .target(name: "SQLiteFiles", dependencies: ["CSQLite"]),
    .target(name: "Decompression", dependencies: ["CZlib"]),
    .target(name: "SecretFiles", dependencies: ["TextFormats", "IndoorVocabulary"]),
    .target(
        name: "GeofenceLogging",
        dependencies: [
            "IndoorVocabulary", "VenueModel", "LocalizationSession", "LocalizationPlugins", "SQLiteFiles",
        ]),
    .target(
        name: "RecordUpload",
        dependencies: [
            "TextFormats", "IndoorVocabulary", "VenueModel", "BeaconScanning", "LocalizationSession", "SQLiteFiles",
            "VenuePackets", "MQTTSharing",
        ]),
    .target(
        name: "VenuePackets",
        dependencies: [
            "TextFormats", "IndoorVocabulary", "VenueModel", "BeaconScanning", "IndoorPositioning", "IndoorRouting",
            "LocalizationSession", "Decompression", "CCurl", "CLibArchive", "CFolders",
        ]),
    // Venues and walks in the formats of other programs.
    .target(
        name: "VenueExchange",
        dependencies: [
            "TextFormats", "IndoorVocabulary", "VenueModel", "IndoorRouting", "VenuePackets", "CExpat", "CYAML",
        ]),
    .target(
        name: "ScanRecording",
        dependencies: [
            "TextFormats", "IndoorVocabulary", "VenueModel", "BeaconScanning", "Decompression", "CLibArchive",
        ]),
    .target(
        name: "LiveMap",
        dependencies: [
            "TextFormats", "IndoorVocabulary", "VenueModel", "IndoorPositioning", "LocalizationSession", "CMicroHTTPD",
            "CLiveMapPage", "CSodium",
        ]),
    // The rules of editing a venue's document.
    .target(name: "VenueEditing", dependencies: ["IndoorVocabulary", "VenueModel"]),
    .target(
        name: "LocalizationFigures",
        dependencies: ["TextFormats", "IndoorVocabulary", "VenueModel", "IndoorPositioning"]),
    .target(
        name: "SessionMetrics",
        dependencies: ["IndoorVocabulary", "VenueModel", "BeaconScanning", "LocalizationSession"]),
    .target(name: "IndoorLocalizationTesting", dependencies: ["IndoorLocalization", "ScanRecording", "CMath"]),
    // Many tags, received by fixed receivers.
    .target(
        name: "TagTracking",
        dependencies: [
            "TextFormats", "IndoorVocabulary", "VenueModel", "BeaconScanning", "IndoorPositioning",
            "LocalizationSession",
            "SessionMetrics", "CMath",
        ]),
    .target(
        name: "TagTrackingService",
        dependencies: [
            "TextFormats", "IndoorVocabulary", "VenueModel", "BeaconScanning", "IndoorPositioning",
            "LocalizationSession",
            "SessionMetrics", "TagTracking", "MQTTSharing", "LiveMap", "LiveSurvey", "VenuePackets", "SQLiteFiles",
            "SecretFiles", "RecordUpload", "ScanRecording", "CMemory", "CSodium",
        ]),
    // Surveys with the page: walks, and radio maps that are learned from them.
    .target(
        name: "LiveSurvey",
        dependencies: [
            "TextFormats", "IndoorVocabulary", "VenueModel", "BeaconScanning", "IndoorPositioning",
            "LocalizationSession", "LiveMap", "VenuePackets", "ScanRecording", "CMemory",
        ]),
    .target(name: "NATSLog", dependencies: ["IndoorVocabulary", "TagTracking", "CNATS"]),
    .target(
        name: "TagHistory",
        dependencies: ["IndoorVocabulary", "VenueModel", "LocalizationSession", "TagTracking", "CPostgreSQL"]),
    // The recordings of other programs.
    .target(
        name: "ForeignRecordings",
        dependencies: [
            "TextFormats", "IndoorVocabulary", "VenueModel", "BeaconScanning", "ScanRecording", "TagTracking",
            "SQLiteFiles",
        ]),
    // The commands. They are a library, because two programs use them.
    .target(
        name: "indoorloc",
        dependencies: [
            "TextFormats", "IndoorLocalization", "BlueZScanning", "GPSDReceiving", "IIOReceiving", "NMEASending",
            "MQTTSharing",
            "RecordUpload", "VenuePackets", "VenueExchange", "ScanRecording", "ForeignRecordings",
            "IndoorLocalizationTesting", "LiveMap", "LiveSurvey", "LocalizationFigures", "SessionMetrics",
            "TagTracking",
            "TagTrackingService",
            "VenueEditing", "SecretFiles", "SQLiteFiles", "CBench", "CGetOpt", "CMath", "CSystemd", "CPrivileges",
        ]),
    .executableTarget(name: "indoorloc-tool", dependencies: ["indoorloc"]),
    .executableTarget(
        name: "indoorloc-fleet",
        dependencies: [
            "TextFormats", "IndoorLocalization", "MQTTSharing", "SessionMetrics", "TagTracking", "TagTrackingService",
            "NATSLog", "TagHistory", "IndoorLocalizationTesting", "SecretFiles", "CBench", "indoorloc",
        ]),
    .testTarget(
        name: "IndoorLocalizationTests", dependencies: ["IndoorLocalization", "IndoorLocalizationTesting", "CMath"]),
    .testTarget(name: "TextFormatsTests", dependencies: ["TextFormats", "IndoorVocabulary"]),
    .testTarget(
        name: "VenuePacketsTests",
        dependencies: [
            "TextFormats", "VenuePackets", "VenueExchange", "ScanRecording", "IndoorLocalizationTesting",
            "TemporaryFiles", "LoopbackServers", "KilledProcess", "CFolders",
        ]),
    .testTarget(
        name: "VenueExchangeTests",
        dependencies: [
            "TextFormats", "VenuePackets", "VenueExchange", "IndoorLocalizationTesting", "TemporaryFiles",
            "LoopbackServers",
        ]),
    // Folders, zips and JSON documents of tests.
    .target(name: "TemporaryFiles", dependencies: ["TextFormats", "CLibArchive"], path: "Tests/TemporaryFiles"),
    // Servers that tests start on the local machine.
    .target(name: "LoopbackServers", path: "Tests/LoopbackServers"),
    .testTarget(
        name: "BlueZScanningTests",
        dependencies: ["BlueZScanning", "ScanRecording", "VenuePackets", "IndoorLocalizationTesting"]),
    .testTarget(
        name: "GPSDReceivingTests",
        dependencies: ["GPSDReceiving", "CGPS", "IndoorLocalizationTesting", "LoopbackServers"]),
    .testTarget(
        name: "NMEASendingTests",
        dependencies: [
            "NMEASending", "GPSDReceiving", "VenuePackets", "IndoorLocalizationTesting", "LoopbackServers",
        ]),
    .testTarget(name: "IIOReceivingTests", dependencies: ["IIOReceiving", "IndoorLocalizationTesting"]),
    .testTarget(
        name: "GeofenceLoggingTests",
        dependencies: ["GeofenceLogging", "SQLiteFiles", "CSQLite", "IndoorLocalizationTesting", "KilledProcess"]),
    .testTarget(
        name: "RecordUploadTests",
        dependencies: [
            "RecordUpload", "CSQLite", "IndoorLocalizationTesting", "LoopbackServers", "KilledProcess",
        ]),
    // A process that tests kill in the middle of its work.
    .executableTarget(
        name: "KilledProcess",
        dependencies: ["IndoorLocalization", "GeofenceLogging", "MQTTSharing", "RecordUpload", "VenuePackets"],
        path: "Tests/KilledProcess"),
    .testTarget(
        name: "MQTTSharingTests",
        dependencies: ["MQTTSharing", "IndoorLocalizationTesting", "LoopbackServers", "KilledProcess"]),
    .testTarget(
        name: "ScanRecordingTests", dependencies: ["TextFormats", "ScanRecording", "IndoorLocalizationTesting"]),
    .testTarget(
        name: "ForeignRecordingsTests",
        dependencies: [
            "ForeignRecordings", "ScanRecording", "VenuePackets", "IndoorLocalizationTesting", "SQLiteFiles",
        ]),
    .testTarget(
        name: "ReplayTests",
        dependencies: [
            "GeofenceLogging", "ScanRecording", "VenuePackets", "IndoorLocalizationTesting", "EnduranceRunner",
            "CBench",
        ]),
    // A process that repeats work, and measures what remains of it.
    .executableTarget(
        name: "EnduranceRunner",
        dependencies: [
            "IndoorLocalization", "LiveMap", "MQTTSharing", "ScanRecording", "VenuePackets",
            "IndoorLocalizationTesting", "LoopbackServers", "CBench",
        ], path: "Tests/EnduranceRunner"),
    .testTarget(
        name: "IndoorLocalizationTestingTests",
        dependencies: ["ScanRecording", "VenuePackets", "IndoorLocalizationTesting"]),
    .testTarget(
        name: "LiveMapTests",
        dependencies: [
            "LiveMap", "LiveSurvey", "TagTracking", "TagTrackingService", "ScanRecording", "VenueEditing",
            "VenuePackets",
            "IndoorLocalizationTesting", "LoopbackServers",
        ]),
    .testTarget(
        name: "LocalizationFiguresTests", dependencies: ["LocalizationFigures", "IndoorLocalizationTesting"]),
    .testTarget(name: "SessionMetricsTests", dependencies: ["SessionMetrics", "IndoorLocalizationTesting"]),
    .testTarget(
        name: "LiveSurveyTests",
        dependencies: ["LiveSurvey", "ScanRecording", "IndoorLocalizationTesting"]),
    .testTarget(
        name: "TagTrackingTests",
        dependencies: ["TextFormats", "TagTracking", "VenuePackets", "IndoorLocalizationTesting", "CMath"]),
    .testTarget(
        name: "TagTrackingServiceTests",
        dependencies: [
            "LiveSurvey", "TagTracking", "TagTrackingService", "MQTTSharing", "VenuePackets", "SQLiteFiles",
            "IndoorLocalizationTesting", "LoopbackServers", "TemporaryFiles",
        ]),
    // The decoders of external bytes. .ci/fuzz compiles a part of these files for libFuzzer.
    .testTarget(
        name: "DecoderTests",
        dependencies: [
            "TextFormats", "IndoorVocabulary", "VenueModel", "BeaconScanning", "IndoorPositioning",
            "LocalizationSession",
            "VenuePackets", "VenueExchange", "ScanRecording", "ForeignRecordings", "TagTracking",
            "TagTrackingService", "MQTTSharing", "LiveMap", "BlueZScanning", "CDBus", "IndoorLocalizationTesting",
        ]),
    // The log of a fleet, its database and its program, with real servers.
    .testTarget(
        name: "FleetTests",
        dependencies: [
            "indoorloc-fleet", "TagTracking", "TagTrackingService", "NATSLog", "TagHistory", "CNATS", "CPostgreSQL",
            "MQTTSharing", "VenuePackets", "IndoorLocalizationTesting", "LoopbackServers",
        ]),
    .testTarget(
        name: "CommandLineTests",
        dependencies: [
            "indoorloc", "indoorloc-tool", "indoorloc-fleet", "TagTracking", "TagTrackingService", "GPSDReceiving",
            "IIOReceiving", "NMEASending", "MQTTSharing", "RecordUpload", "CBench", "ScanRecording",
            "VenuePackets", "VenueExchange", "IndoorLocalizationTesting", "LiveMap", "LocalizationFigures",
            "SessionMetrics", "LoopbackServers", "FilteredProgram", "GeofenceLogging", "KilledProcess",
        ]),
    // Runs a program under the system calls that a systemd unit permits.
    .executableTarget(
        name: "FilteredProgram", dependencies: ["CPrivileges"], path: "Tests/FilteredProgram",
        linkerSettings: [.linkedLibrary("seccomp")]),
]

/// Returns a target's dependencies, and theirs, in the order in which `names` lists them.
@MainActor func allDependencies(of names: [String]) -> [String] {
    var all: [String] = []
    var rest = names
    while !rest.isEmpty {
        let name = rest.removeFirst()
        guard !all.contains(name), let target = targets.first(where: { $0.name == name }) else { continue }
        all.append(name)
        for case .byNameItem(let dependency, _) in target.dependencies { rest.append(dependency) }
    }
    return all
}

// SwiftPM compiles a target again if a target that it names has changed, but not if one below that has changed. Such a
// target would keep the old layout of a changed type: it reads wrong values or crashes. Therefore each target and each
// product names all targets below it. `.ci/lint` compares the imports with the lists above.
for (target, dependencies) in targets.map({ ($0, allDependencies(of: [$0.name]).dropFirst()) }) {
    target.dependencies = dependencies.map { .byName(name: $0) }
}

@MainActor func library(_ name: String) -> Product {
    .library(
        name: name,
        targets: allDependencies(of: [name]).filter { name in
            targets.first { $0.name == name }?.type == .regular
        })
}

let package = Package(
    name: "IndoorLocalization",
    products: [
        library("IndoorLocalization"),
        library("IndoorVocabulary"),
        library("VenueModel"),
        library("BeaconScanning"),
        library("IndoorPositioning"),
        library("IndoorRouting"),
        library("LocalizationSession"),
        library("LocalizationPlugins"),
        library("VenuePackets"),
        library("VenueExchange"),
        library("ScanRecording"),
        library("ForeignRecordings"),
        library("BlueZScanning"),
        library("GPSDReceiving"),
        library("NMEASending"),
        library("IIOReceiving"),
        library("MQTTSharing"),
        library("GeofenceLogging"),
        library("RecordUpload"),
        library("LiveMap"),
        library("SessionMetrics"),
        library("IndoorLocalizationTesting"),
        .executable(name: "indoorloc", targets: ["indoorloc-tool"]),
        .executable(name: "indoorloc-fleet", targets: ["indoorloc-fleet"]),
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)
