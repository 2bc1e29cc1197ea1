// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "SurveyTerminal",
    dependencies: [
        // The checkout that contains this example. In your package: .package(path: "../IndoorLocalization")
        .package(name: "IndoorLocalization", path: "../../../../..")
    ],
    targets: [
        .executableTarget(
            name: "SurveyTerminal",
            dependencies: [
                .product(name: "IndoorLocalization", package: "IndoorLocalization"),
                .product(name: "BlueZScanning", package: "IndoorLocalization"),
                .product(name: "ScanRecording", package: "IndoorLocalization"),
                .product(name: "VenuePackets", package: "IndoorLocalization"),
            ])
    ]
)
